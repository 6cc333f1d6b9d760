import { useId } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'

type Props = {
  name: string
  label: string
  value: string
  onInput: (value: string) => void
  hint: string
  problem: string | undefined
  /** The keyboard that a phone shows. */
  keys?: 'url' | 'text'
  /** Set for words that the user makes up, in any language. */
  isProse?: boolean
}

/** Several lines of input, as a rule for values that are copied character by character. The field grows with them. */
export function TextArea({ name, label, value, onInput, hint, problem, keys = 'url', isProse = false }: Props) {
  const id = useId()
  const described = [`${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        class={isProse ? 'input textarea' : 'input textarea mono'}
        dir={isProse ? 'auto' : undefined}
        id={id}
        name={name}
        rows={Math.max(2, value.split('\n').length)}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        autocomplete="off"
        autocapitalize={isProse ? 'sentences' : 'none'}
        autocorrect="off"
        spellcheck={false}
        inputMode={keys}
        aria-invalid={problem !== undefined}
        aria-describedby={described}
      />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <div role="alert">
        {problem && (
          <p class="problem" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </div>
    </div>
  )
}

/** One permission of an app at another app: its scope, and the description that the other app gives, if any. */
export type Permission = { scope: string; description: string }

/** Lists what an app may do at another app: the descriptions, the scopes that both apps use, and other facts. */
export function PermissionList({ of, children }: { of: Permission[]; children?: ComponentChildren }) {
  return (
    <ul class="permits">
      {of.map(({ scope, description }) => (
        <li key={scope}>
          <Icon name="check" />
          <span>
            {description !== '' && <bdi>{description}</bdi>} <code>{scope}</code>
          </span>
        </li>
      ))}
      {children}
    </ul>
  )
}

/** Reserves the room of content that is loading. Announces it only if loading takes noticeably long. */
export function Spinner() {
  return (
    <p class="waiting" role="status">
      {useMessages().frame.moment}
    </p>
  )
}
