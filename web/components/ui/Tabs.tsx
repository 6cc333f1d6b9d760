import type { ComponentChildren } from 'preact'
import { RouteLink } from '../frame/route.tsx'
import { formatNumber } from '../../lib/text/dates.ts'

export type Tab = {
  label: string
  href: string
  current: boolean
  count?: number
  onFollow: () => void
  action?: string
}

type TabsProps = { label: string; tabs: Tab[]; /** They stand in a flush card. */ inCard?: boolean }

/** Links to the parts of a section. The width of a tab does not depend on which is current. */
export function Tabs({ label, tabs, inCard = false }: TabsProps) {
  return (
    <nav class={inCard ? 'tabs in-card' : 'tabs'} aria-label={label}>
      <ul>
        {tabs.map((tab) => (
          <li key={tab.href}>
            <RouteLink href={tab.href} current={tab.current} onFollow={tab.onFollow} action={tab.action}>
              {tab.label}
              {tab.count !== undefined && <span class="count plain">{formatNumber(tab.count)}</span>}
            </RouteLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}

type SegmentedProps<Value> = {
  label: string
  of: { value: Value; label: ComponentChildren }[]
  chosen: Value
  onChoose: (value: Value) => void
  /** Begins the `data-action` hooks of the values. */
  action?: string
}

/** One of a few values, all of which are visible. */
export function Segmented<Value extends string>({ label, of, chosen, onChoose, action }: SegmentedProps<Value>) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {of.map(({ value, label: text }) => (
        <button
          key={value}
          type="button"
          data-action={action && `${action}-${value}`}
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

type StepsProps = { label: string; steps: string[]; /** Index of the current step. */ current: number }

/** The steps of one task: those that are done, the current one, and those to come. */
export function Steps({ label, steps, current }: StepsProps) {
  return (
    <ol class="steps" aria-label={label}>
      {steps.map((step, index) => (
        <li
          key={step}
          class={index < current ? 'done' : undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          <span class="dot" aria-hidden="true">
            {index < current ? '✓' : formatNumber(index + 1)}
          </span>
          <span class="word">{step}</span>
        </li>
      ))}
    </ol>
  )
}
