import type { ComponentChildren } from 'preact'
import { flourish, petals } from './ornament.ts'

type Props = {
  name: string
  below: ComponentChildren
  isSigned: boolean
  /** Draws the name and its paraph once, as if by hand. */
  isNow?: boolean
  /** Fingerprint of the signing key. The paraph is drawn from it: the same key, the same flourish. */
  fingerprint?: string | undefined
  aside?: ComponentChildren
}

/** Shows a name on a signature line, in pencil until it is signed. */
export function Signature({ name, below, isSigned, isNow = false, fingerprint, aside }: Props) {
  return (
    <div class={['signature', isSigned && 'signed', isNow && 'now'].filter(Boolean).join(' ')}>
      <svg class="signature-cross" viewBox="0 0 14 14" aria-hidden="true">
        <path d="M2 2L12 12M12 2L2 12" />
      </svg>
      <p class="signature-name">
        {name}
        {isSigned && fingerprint !== undefined && <Paraph fingerprint={fingerprint} />}
      </p>
      {aside ?? <div />}
      <div class="signature-below">{below}</div>
    </div>
  )
}

/** A flourish below a name. It is an ornament and proves nothing. */
export function Paraph({ fingerprint }: { fingerprint: string }) {
  return (
    <svg class="paraph" viewBox="0 0 260 24" aria-hidden="true">
      <path pathLength={1} d={flourish(fingerprint)} />
    </svg>
  )
}

type SealProps = {
  fingerprint: string
  /** Runs around the rim. */
  text: string
}

/** A rosette from the bytes of a key, for what has been signed and verified. It is an ornament and proves nothing. */
export function Seal({ fingerprint, text }: SealProps) {
  return (
    <svg class="seal" viewBox="0 0 140 140" aria-hidden="true">
      <g class="rosette" transform="translate(22.5 22.5) scale(.79)">
        {petals(fingerprint).map((path) => (
          <path key={path} d={path} />
        ))}
      </g>
      <circle class="seal-ring" cx="70" cy="70" r="68" />
      <circle class="seal-ring thin" cx="70" cy="70" r="53" />
      <path id="seal-rim" d="M70 70m-57.5 0a57.5 57.5 0 1 1 115 0a57.5 57.5 0 1 1 -115 0" />
      <text class="seal-text">
        <textPath href="#seal-rim">{text}</textPath>
      </text>
    </svg>
  )
}
