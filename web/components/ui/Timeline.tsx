import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './Icon.tsx'
import type { Tone } from './Chip.tsx'

/** Events of one day, newest first, below a heading that names the day. */
export function TimelineDay({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <h2 class="day">{title}</h2>
      <ol class="timeline">{children}</ol>
    </>
  )
}

type EventProps = {
  icon?: IconName
  tone?: Exclude<Tone, 'mute'>
  /** Stands for the icon: the picture of who did it. */
  avatar?: ComponentChildren
  /** ISO 8601 instant, and how it is shown. */
  instant: string
  time: string
  detail?: ComponentChildren
  /** Chips, buttons or a disclosure below the sentence. */
  more?: ComponentChildren
  children: ComponentChildren
}

/** One event: who did what to which object, and when. */
export function TimelineEvent({ icon = 'activity', tone, avatar, instant, time, detail, more, children }: EventProps) {
  return (
    <li>
      {avatar ?? (
        <span class={tone ? `glyph sm ${tone}` : 'glyph sm'}>
          <Icon name={icon} size="sm" />
        </span>
      )}
      <div class="body">
        <span>{children}</span>
        {detail !== undefined && <small>{detail}</small>}
      </div>
      <time dateTime={instant}>{time}</time>
      {more !== undefined && <div class="more">{more}</div>}
    </li>
  )
}
