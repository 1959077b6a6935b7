# zsh -f complete.zsh FOLDER LINE: what the line editor makes of LINE when tab is pressed at its end, with the completion
# _trireme of FOLDER.
emulate zsh
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell $1 }
say "PS1= PS2= RPS1=; stty -echo; unsetopt zle_bracketed_paste 2>/dev/null; LISTMAX=10000"
say "fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u"
say "tell() { print -r -- \"<\$BUFFER>\"; BUFFER=; zle accept-line }; zle -N tell; bindkey '^T' tell; print ready=yes"
zpty -r -m shell output '*ready=yes*' || exit 1
zpty -w -n shell "$2"$'\t\x14'
zpty -r -m shell output '*<trireme*>*' || exit 1
print -r -- ${${output##*<}%%>*}
