import { useState } from 'preact/hooks'
import { useMessages } from '../frame/Root.tsx'
import type { ComponentChildren } from 'preact'
import { isolate } from '../../lib/text/isolate.ts'

type Props = {
  text: string
  /** The `data-action` hook for automation. */
  action: string
  /** Names the copied value for users who do not see the label next to the button. */
  what?: string
}

export function CopyButton({ text, action, what }: Props) {
  const words = useMessages().frame
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

type Copyable = { label: string; value: string; action: string }

type FieldsProps = {
  of: Copyable[]
  /** The entry of a list that the values belong to. The names of the buttons say so for screen readers. */
  owner?: string
  children?: ComponentChildren
}

/**
 * Lists values that users transfer character by character, each with a button that copies it. Other facts may follow.
 */
export function CopyableFields({ of, owner, children }: FieldsProps) {
  const nameOf = (label: string) => (owner === undefined ? label : `${label}: ${isolate(owner)}`)
  return (
    <dl class="facts copies">
      {of.map(({ label, value, action }) => (
        <div key={action} class="fact">
          <dt>{label}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} action={action} what={nameOf(label)} />
          </dd>
        </div>
      ))}
      {children}
    </dl>
  )
}
