import { useId } from 'preact/hooks'

type Props<Value> = {
  name: string
  label: string
  of: { value: Value; label: string }[]
  chosen: Value
  onChoose: (value: Value) => void
}

/** One of a few things, of which only the chosen one shows. */
export function Choice<Value extends string>({ name, label, of, chosen, onChoose }: Props<Value>) {
  const id = useId()
  const choose = (written: string) => {
    const found = of.find(({ value }) => value === written)
    if (found) onChoose(found.value)
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {of.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  )
}
