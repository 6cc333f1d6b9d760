import { Argument, type Command } from 'commander'

const words = (command: Command) => [
  ...command.commands.map((each) => each.name()),
  ...command.options.flatMap(({ long }) => (long ? [long] : [])),
]

/** `countersign completion bash|zsh`: prints a shell script that completes commands and options. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script: source <(npx --no-install countersign completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .action((shell: string) => {
      if (shell === 'zsh') console.log('autoload -U +X bashcompinit && bashcompinit')
      console.log(scriptOf(program))
    })
}

/** Writes a bash function that looks up the possible words by the commands typed so far. */
function scriptOf(program: Command): string {
  const cases = branchesOf(program, []).map(
    ([path, command]) => `    '${path.join(' ')}') words='${words(command).join(' ')}' ;;`,
  )
  return `_countersign() {
  local word path='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _countersign countersign`
}

function branchesOf(command: Command, path: string[]): [path: string[], command: Command][] {
  const deeper = command.commands.flatMap((each) => branchesOf(each, [...path, each.name()]))
  return [[path, command], ...deeper]
}
