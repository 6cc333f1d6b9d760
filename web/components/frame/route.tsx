import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Props = {
  href: string
  onFollow: () => void
  class?: string | undefined
  /** The `data-action` hook for automation. */
  action?: string | undefined
  current?: boolean
  children: ComponentChildren
}

/** A link to another view of the same page. Following it loads nothing. */
export function RouteLink({ href, onFollow, class: look, action, current = false, children }: Props) {
  const follow = (event: MouseEvent) => {
    // The browser handles links that open in a new tab or window.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    onFollow()
  }
  return (
    <a class={look} href={href} data-action={action} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}

/** Goes to another view. With `replacing`, the new view replaces the current one in the browser's history. */
export type Navigate<Place> = (place: Place, how?: { replacing: boolean }) => void

/** Maps views to paths and back. Not every view that a path can name is one to go to. */
type Routes<Read, Written extends Read> = { parseRoute: (path: string) => Read; routePath: (place: Written) => string }

/**
 * Returns the view in the address bar, and the function that goes to another one. The back button reverses that.
 *
 * @param onLeaving is called before another view is shown, however the user got there.
 */
export function useRoute<Read, Written extends Read>(
  { parseRoute, routePath }: Routes<Read, Written>,
  onLeaving?: () => void,
): [Read, Navigate<Written>] {
  const [place, setPlace] = useState(() => parseRoute(location.pathname))
  const arrive = (next: Read) => {
    onLeaving?.()
    setPlace(() => next)
    scrollTo(0, 0)
  }
  useEffect(() => {
    const follow = () => arrive(parseRoute(location.pathname))
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const goTo: Navigate<Written> = (next, { replacing } = { replacing: false }) => {
    history[replacing ? 'replaceState' : 'pushState'](null, '', routePath(next))
    arrive(next)
  }
  return [place, goTo]
}
