import { useId } from 'preact/hooks'

type SelectProps<Value> = {
  name: string
  label: string
  of: { value: Value; label: string }[]
  chosen: Value
  onChoose: (value: Value) => void
}

/** A select box: only the chosen value is visible. */
export function Select<Value extends string>({ name, label, of, chosen, onChoose }: SelectProps<Value>) {
  const id = useId()
  const choose = (written: string) => {
    const found = of.find(({ value }) => value === written)
    if (found) onChoose(found.value)
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        class="select"
        id={id}
        name={name}
        value={chosen}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {of.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  )
}

type Option<Value> = { value: Value; label: string; about?: string }
type RadioGroupProps<Value> = {
  name: string
  legend: string
  hint?: string
  of: Option<Value>[]
  chosen: Value[]
  /** Allows several values. */
  several?: boolean
  onChoose: (value: Value) => void
}

/** A group of radio buttons, or of check boxes if several values are allowed. */
export function RadioGroup<Value extends string>({
  name,
  legend,
  hint,
  of,
  chosen,
  several,
  onChoose,
}: RadioGroupProps<Value>) {
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
