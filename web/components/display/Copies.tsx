import type { ComponentChildren } from 'preact'
import { CopyButton } from './CopyButton.tsx'

type Copyable = { label: string; value: string; action: string }

/** What goes elsewhere letter by letter, each with a button that copies it; other facts may follow. */
export function Copies({ of, children }: { of: Copyable[]; children?: ComponentChildren }) {
  return (
    <dl class="facts copies">
      {of.map(({ label, value, action }) => (
        <div key={action} class="fact">
          <dt>{label}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} action={action} what={label} />
          </dd>
        </div>
      ))}
      {children}
    </dl>
  )
}
