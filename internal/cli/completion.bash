# bash completion for cordon. It needs bash 3.2 or newer and no other package:
#   source <(cordon completion bash)

_cordon() {
  local line="${COMP_LINE:0:COMP_POINT}" current="" candidate directive=0 flag="" prefix word
  local -a words
  # COMP_WORDS is split at = and :, which are parts of our values.
  read -ra words <<<"$line"
  case "$line" in
    *[[:space:]]) words+=("") ;;
  esac
  current="${words[${#words[@]} - 1]}"
  # cordon answers --flag=v with values.
  case "$current" in
    -*=*) flag="${current%%=*}=" current="${current#*=}" ;;
  esac
  # readline replaces only the last of the words that it sees.
  word="${COMP_WORDS[COMP_CWORD]}"
  [[ $word != [=:] ]] || word=""
  case "$flag$current" in
    "$word") prefix="" ;;
    *) prefix="${current%"$word"}" flag="" ;;
  esac
  COMPREPLY=()
  while IFS= read -r candidate; do
    case "$candidate" in
      :[0-9]*) directive="${candidate#:}" ;;
      "$current"*) COMPREPLY+=("$flag${candidate#"$prefix"}") ;;
    esac
  done < <("${words[0]}" __completeNoDesc "${words[@]:1}" 2>/dev/null)
  # The bits are cobra's: 2 is no space behind the word, 4 is no file names.
  if type compopt >/dev/null 2>&1; then
    ((directive & 2)) && compopt -o nospace 2>/dev/null
    ((directive & 4)) && compopt +o default 2>/dev/null
  fi
  return 0
}

complete -o default -F _cordon cordon
