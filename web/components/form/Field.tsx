import { useEffect, useId, useRef } from 'preact/hooks'

type Props = {
  name: string
  label: string
  value: string
  onInput: (value: string) => void
  hint?: string
  problem?: string | undefined
  autocomplete?: string
  /** For what is copied letter by letter. */
  exact?: boolean
  /** Which keys a phone shows. */
  keys?: 'email' | 'numeric' | 'url'
  /** For the field of a step that took the place of another. */
  takesFocus?: boolean
}

/** A line to write on. */
export function Field({ name, label, value, onInput, hint, problem, autocomplete, exact, keys, takesFocus }: Props) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (takesFocus) input.current?.focus()
  }, [takesFocus])
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="written">
        <input
          ref={input}
          id={id}
          name={name}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          autocomplete={autocomplete ?? 'off'}
          autocapitalize={exact ? 'none' : 'words'}
          inputMode={keys}
          autocorrect="off"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={described || undefined}
        />
      </div>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
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
