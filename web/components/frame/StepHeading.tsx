import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The heading of a step that took the place of another: it takes the focus, so that no one is left behind. */
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
