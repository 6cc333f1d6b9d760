import { useState } from 'preact/hooks'
import { useWords } from '../frame/Root.tsx'

type Props = {
  text: string
  /** The hook for automation. */
  action: string
  /** What it copies, for those who don't see beside what it stands. */
  what?: string
}

export function CopyButton({ text, action, what }: Props) {
  const words = useWords().frame
  const [copied, setCopied] = useState<string>()
  const isCopied = copied === text
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(text), reportError)
  return (
    <button
      type="button"
      class={what === undefined ? 'button secondary' : 'button quiet'}
      data-action={action}
      onClick={copy}
      aria-live="polite"
      aria-label={what === undefined || isCopied ? undefined : words.copyWhat(what)}
    >
      {isCopied ? words.copied : words.copy}
    </button>
  )
}
