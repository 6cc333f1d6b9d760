import type { ComponentChildren } from 'preact'
import { Icon } from './Icon.tsx'

export type Fact = { label: string; value: ComponentChildren; note?: ComponentChildren }

/** Names and values, one on each line. */
export function Facts({ of, isRuled = false }: { of: Fact[]; isRuled?: boolean }) {
  return (
    <dl class={isRuled ? 'facts ruled' : 'facts'}>
      {of.map(({ label, value, note }) => (
        <div key={label} class="fact">
          <dt>{label}</dt>
          <dd>
            {value}
            {note !== undefined && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

export type Permit = { text: ComponentChildren; key: string; isAllowed: boolean; note?: ComponentChildren }

/** What an app or a role may do, and what it may not. */
export function Permits({ of }: { of: Permit[] }) {
  return (
    <ul class="permits">
      {of.map(({ key, text, isAllowed, note }) => (
        <li key={key} class={isAllowed ? undefined : 'no'}>
          <Icon name={isAllowed ? 'check' : 'x'} />
          <span>
            {text}
            {note !== undefined && <small>{note}</small>}
          </span>
        </li>
      ))}
    </ul>
  )
}
