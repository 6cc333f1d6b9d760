import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './Icon.tsx'

export type Tone = 'ok' | 'wait' | 'bad' | 'pen' | 'mute'

/** Says a state in one or two words. The color never says it alone. */
export function Chip({ tone = 'mute', icon, children }: { tone?: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <span class={tone === 'mute' ? 'chip' : `chip ${tone}`}>
      {icon && <Icon name={icon} size="sm" />}
      {children}
    </span>
  )
}

type NoteProps = {
  tone?: 'ok' | 'wait' | 'bad' | 'pen'
  icon?: IconName
  role?: 'status' | 'alert'
  children: ComponentChildren
}

const noteIcons = { ok: 'circle-check', wait: 'circle-alert', bad: 'triangle-alert', pen: 'info' } as const

/** A sentence or two that belong to the content below. */
export function Note({ tone, icon = tone ? noteIcons[tone] : 'info', role, children }: NoteProps) {
  return (
    <div class={tone ? `note ${tone}` : 'note'} role={role}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  )
}
