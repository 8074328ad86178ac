# attack: write garbage to the result's channel
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:out_of_result
# naked: no there is no channel without cordon

write_channel(os.urandom(4096))
result = {"escaped": False, "detail": "the rubbish was ignored"}
