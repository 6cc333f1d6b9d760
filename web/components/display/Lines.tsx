import { useId } from 'preact/hooks'

type Props = {
  name: string
  label: string
  value: string
  onInput: (value: string) => void
  hint: string
  problem: string | undefined
  /** Which keys a phone shows. */
  keys?: 'url' | 'text'
}

/** Several lines to write on, for what is copied letter by letter. They grow with what is written. */
export function Lines({ name, label, value, onInput, hint, problem, keys = 'url' }: Props) {
  const id = useId()
  const described = [`${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={Math.max(2, value.split('\n').length)}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        autocomplete="off"
        autocapitalize="none"
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
