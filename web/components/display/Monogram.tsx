import type { ComponentChildren } from 'preact'
import { Avatar } from '../ui/Avatar.tsx'
import { Signature } from '../signature/Signature.tsx'

/** Shows an app's initial instead of its icon, because the pages load nothing from other hosts. */
export function Monogram({ name }: { name: string }) {
  return <Avatar kind="app" name={name} size="lg" />
}

type Props = { name: string; below: ComponentChildren; signed: boolean; aside?: ComponentChildren }

/** Shows a name on a signature line, in pencil until it is signed. */
export function SignatureLine({ name, below, signed, aside }: Props) {
  return <Signature name={name} below={below} isSigned={signed} aside={aside} />
}
