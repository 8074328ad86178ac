# attack: return text with lone surrogates
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output outcome:succeeded outcome:raised
# naked: no the harness would accept it

result = {"\ud800": "\udfff lone surrogates \x00 and NUL"}
