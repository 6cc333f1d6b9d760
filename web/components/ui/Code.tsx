import { encode } from 'uqr'
import { CopyButton } from '../display/Copies.tsx'

type CodeProps = { code: string; label: string; action: string }

/** Code that users copy into a file or a terminal. */
export function CodeBlock({ code, label, action }: CodeProps) {
  return (
    <div class="code">
      <div class="bar">
        <span>{label}</span>
        <CopyButton text={code} action={action} what={label} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Long lines scroll, also by keyboard. */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}

type CopyableProps = { value: string; label: string; action: string }

/** One value that users transfer character by character. */
export function Copyable({ value, label, action }: CopyableProps) {
  return (
    <div class="copyable">
      <code>{value}</code>
      <CopyButton text={value} action={action} what={label} />
    </div>
  )
}

/** Modules of white around the code (ISO/IEC 18004 requires four). */
const quietModules = 4

/** Shows a text as a QR code. `label` says what it holds and where else it can be found. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 0 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  const whole = size + 2 * quietModules
  return (
    <div class="qr">
      <svg viewBox={`${-quietModules} ${-quietModules} ${whole} ${whole}`} role="img" aria-label={label}>
        <path d={path} />
      </svg>
    </div>
  )
}
