import { useId } from 'preact/hooks'

type Option<Value> = { value: Value; label: string; about?: string }
type Props<Value> = {
  name: string
  legend: string
  hint?: string
  of: Option<Value>[]
  chosen: Value[]
  /** Whether one may choose several. */
  several?: boolean
  onChoose: (value: Value) => void
}

/** Things to choose among: one of them, or several. */
export function Options<Value extends string>({ name, legend, hint, of, chosen, several, onChoose }: Props<Value>) {
  const id = useId()
  return (
    <fieldset class="options" aria-describedby={hint && `${id}-hint`}>
      <legend>{legend}</legend>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {of.map(({ value, label, about }) => (
        <label key={value} class="option">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={name}
            value={value}
            checked={chosen.includes(value)}
            onChange={() => onChoose(value)}
          />
          <span>
            {label}
            {about && <span class="about">{about}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
