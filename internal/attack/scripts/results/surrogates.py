# attack: return text that is no text
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output outcome:succeeded outcome:raised
# naked: no the harness would take it

result = {"\ud800": "\udfff lone surrogates \x00 and NUL"}
