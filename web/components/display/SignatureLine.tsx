import type { ComponentChildren } from 'preact'

type Props = { name: string; below: ComponentChildren; signed: boolean; aside?: ComponentChildren }

/** The line where a name stands, in pencil until it is signed. */
export function SignatureLine({ name, below, signed, aside }: Props) {
  return (
    <div class={signed ? 'signature signed' : 'signature'}>
      <p class="signature-name">{name}</p>
      {aside}
      <p class="signature-below">{below}</p>
    </div>
  )
}
