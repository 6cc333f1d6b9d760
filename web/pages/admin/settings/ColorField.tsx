import { accentOf } from '@countersign/protocol/formats/looks/accent'
import { Field } from '../../../components/form/Field.tsx'
import '../../../components/pictures/pictures.css'
import { useSettingsMessages } from './words.ts'

type Props = { name: string; label: string; value: string; isFaulty: boolean; onInput: (text: string) => void }

const firstColor = '#2841ae'

/** A color as text, and what chooses one. An empty text is the default. */
export function ColorField({ name, label, value, isFaulty, onInput }: Props) {
  const words = useSettingsMessages()
  return (
    <div class="setting-color">
      <Field
        name={name}
        label={label}
        hint={words.colorHint}
        value={value}
        onInput={onInput}
        problem={isFaulty ? words.colorProblem : undefined}
        isCode
        exact
      />
      <input
        class="color"
        type="color"
        aria-label={words.chooseColor}
        value={accentOf(value)?.hex ?? firstColor}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  )
}
