import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Intersection Observer v2, which TypeScript's DOM library doesn't have. */
type Options = IntersectionObserverInit & { trackVisibility: true; delay: number }

/** How long something must have been seen, so that nobody presses what appeared under their finger. */
const delayMilliseconds = 400

/** Whether this browser can tell that nothing covers a part of the page, as the page around a frame could. */
export function canTellCovered(): boolean {
  return 'IntersectionObserverEntry' in globalThis && 'isVisible' in IntersectionObserverEntry.prototype
}

/** Whether all of an element is seen, by the browser's word: inside the window, and nothing over it. */
export function useUncovered(element: RefObject<HTMLElement | null>, framed: boolean): boolean {
  const [uncovered, setUncovered] = useState(!framed)
  useEffect(() => {
    if (!framed || !element.current) return
    const options: Options = { threshold: [0, 0.5, 0.98, 1], trackVisibility: true, delay: delayMilliseconds }
    const observer = new IntersectionObserver((entries) => {
      const last = entries.at(-1)
      setUncovered(last !== undefined && isVisible(last) && last.intersectionRatio >= 0.98)
    }, options)
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [framed])
  return uncovered
}

function isVisible(entry: IntersectionObserverEntry): boolean {
  return 'isVisible' in entry && entry.isVisible === true
}
