import { CopyButton } from '../../../components/display/Copies.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { useAdminMessages } from '../words.ts'

/** Shows the command that does the same as the button above. */
export function CommandLine({ words: parts }: { words: string[] }) {
  const { commandLine } = useAdminMessages()
  const command = ['countersign', ...parts.map(quoted)].join(' ')
  return (
    <Disclosure summary={commandLine} icon="code-xml">
      <div class="copyable" dir="ltr">
        <code>{command}</code>
        <CopyButton text={command} action="copy-command" what={commandLine} />
      </div>
    </Disclosure>
  )
}

/** Quotes a word for a POSIX shell, if it needs that. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
