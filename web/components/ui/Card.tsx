import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useMessages } from '../frame/Root.tsx'
import { Icon, type IconName } from './Icon.tsx'

type CardProps = {
  title?: ComponentChildren
  /** A sentence below the title. */
  about?: ComponentChildren
  /** Stands at the end of the title's line: a chip, a link or a button. */
  actions?: ComponentChildren
  /** It waits for the user. */
  accent?: boolean
  /** What is in it deletes or ends something. */
  danger?: boolean
  /** Its content reaches the edges: a list or a table. */
  flush?: boolean
  /** The last line, in small letters. */
  foot?: ComponentChildren
  class?: string
  children?: ComponentChildren
}

/** A part of a page with a title of its own. */
export function Card({ title, about, actions, accent, danger, flush, foot, class: more, children }: CardProps) {
  const id = useId()
  const look = ['card', accent && 'accent', danger && 'danger-zone', flush && 'flush', more].filter(Boolean).join(' ')
  return (
    <section class={look} aria-labelledby={title === undefined ? undefined : id}>
      {(title !== undefined || actions !== undefined) && (
        <div class="card-head">
          {title !== undefined && <h2 id={id}>{title}</h2>}
          {actions}
          {about !== undefined && <p>{about}</p>}
        </div>
      )}
      {children}
      {foot !== undefined && <div class="card-foot">{foot}</div>}
    </section>
  )
}

type DangerRowProps = { title: ComponentChildren; what: ComponentChildren; children?: ComponentChildren }

/** One act in a card that is `danger`: what it does, and the button that asks for it. */
export function DangerRow({ title, what, children }: DangerRowProps) {
  return (
    <div class="danger-row">
      <div>
        <h3>{title}</h3>
        <p class="small soft">{what}</p>
      </div>
      {children}
    </div>
  )
}

type EmptyProps = { icon: IconName; title: string; level?: 2 | 3; children?: ComponentChildren }

/** Stands where a list would: what will be here, and one way on. */
export function Empty({ icon, title, level = 3, children }: EmptyProps) {
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <div class="empty">
      <span class="glyph pen">
        <Icon name={icon} size="lg" />
      </span>
      <Heading>{title}</Heading>
      {children}
    </div>
  )
}

/** Keeps the room of rows that are loading. It becomes visible only if that takes noticeably long. */
export function Skeleton({ rows = 3 }: { rows?: number }) {
  const words = useMessages().frame
  return (
    <div class="skeletons" role="status" aria-label={words.moment}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="loading" aria-hidden="true">
          <span class="skeleton round" />
          <span class="stack tight">
            <span class="skeleton half" />
            <span class="skeleton third" />
          </span>
        </div>
      ))}
    </div>
  )
}
