import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { readSiteSettings } from '../../lib/page-data.ts'
import { Icon } from '../ui/Icon.tsx'
import { Toasts } from './Toasts.tsx'
import { Foot, Letterhead } from './Letterhead.tsx'
import { useMessages } from './Root.tsx'

type Props = {
  title: string
  /** The current step of the page. What stands below the sheet is new with each, because otherwise it would move. */
  step?: string
  wide?: boolean
  /** Says on which host the user is. */
  where?: boolean
  /** Shows the sheet alone, for a page in the frame of an app. */
  bare?: boolean
  /** Stands at the end of the letterhead. */
  aside?: ComponentChildren
  /** Stands below the sheet. */
  below?: ComponentChildren
  children: ComponentChildren
}

/** Sets the title of the document: what the page is about, and whose service it is. */
export function useTitle(title: string): void {
  const { brand } = readSiteSettings()
  useLayoutEffect(() => {
    document.title = `${title} · ${brand.name}`
  }, [title])
}

/** Lays out a page that asks one question: the letterhead, the sheet, the foot. */
export function PageLayout({ title, step, wide = false, where = false, bare = false, aside, below, children }: Props) {
  useTitle(title)
  if (bare)
    return (
      <main id="main" class="sheet bare">
        {children}
      </main>
    )
  return (
    <>
      <Letterhead end={aside} />
      <main id="main" class="desk">
        <div key={step} class={wide ? 'sheet wide' : 'sheet'}>
          {children}
        </div>
        {below}
        {where && <Where key={`at-${step}`} />}
      </main>
      <Foot key={step} />
      <Toasts />
    </>
  )
}

function Where() {
  const words = useMessages().frame
  return (
    <p class="where">
      <Icon name="lock" size="sm" />
      <span>
        {words.youAreAt} <strong>{location.host}</strong>
      </span>
    </p>
  )
}

type PageHeadProps = { title: ComponentChildren; lead?: ComponentChildren; actions?: ComponentChildren }

/** The head of a console page: its title, one sentence, and its main actions. The title takes the focus. */
export function PageHead({ title, lead, actions }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <StepHeading>{title}</StepHeading>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
  )
}

/**
 * The heading of a step that replaced another step. It takes the focus, so that screen readers announce the new step.
 */
export function StepHeading({ children, level = 1 }: { children: ComponentChildren; level?: 1 | 2 | 3 }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const Heading = (['h1', 'h2', 'h3'] as const)[level - 1] ?? 'h1'
  return (
    <Heading ref={heading} tabIndex={-1}>
      {children}
    </Heading>
  )
}
