import { isolate } from '../../lib/text/isolate.ts'

type Props = { label: string; of: string }

/** The label of a button that each entry of a list has. Its name for screen readers also says of which entry. */
export function NamedLabel({ label, of }: Props) {
  return (
    <>
      {label}
      <span class="vh">{`: ${isolate(of)}`}</span>
    </>
  )
}
