import type { ComponentChildren } from 'preact'

/** Shows an app's initial instead of its icon, because the pages load nothing from other hosts. */
export function Monogram({ name }: { name: string }) {
  return (
    <span class="monogram" aria-hidden="true">
      {initialOf(name).toUpperCase()}
    </span>
  )
}

/** Returns the first grapheme: one letter with its accents, or one emoji with all its parts. */
function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return first?.segment ?? ''
}

type Props = { name: string; below: ComponentChildren; signed: boolean; aside?: ComponentChildren }

/** Shows a name on a signature line, in pencil until it is signed. */
export function SignatureLine({ name, below, signed, aside }: Props) {
  return (
    <div class={signed ? 'signature signed' : 'signature'}>
      <p class="signature-name">{name}</p>
      {aside}
      <p class="signature-below">{below}</p>
    </div>
  )
}
