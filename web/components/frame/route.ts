import { useEffect, useState } from 'preact/hooks'

/** A way to another place. One that takes the place of this one in the history is not found by the back button. */
export type GoTo<Place> = (place: Place, how?: { replacing: boolean }) => void

/** How the places of some pages stand in the address bar. Not each that is read from there must be one to go to. */
type Places<Read, Written extends Read> = { placeOf: (path: string) => Read; pathOf: (place: Written) => string }

/**
 * The place in the address bar, and the way to another, which the back button takes back.
 *
 * @param onLeaving called before another place is shown, whichever way it came.
 */
export function useRoute<Read, Written extends Read>(
  { placeOf, pathOf }: Places<Read, Written>,
  onLeaving?: () => void,
): [Read, GoTo<Written>] {
  const [place, setPlace] = useState(() => placeOf(location.pathname))
  const arrive = (next: Read) => {
    onLeaving?.()
    setPlace(() => next)
    scrollTo(0, 0)
  }
  useEffect(() => {
    const follow = () => arrive(placeOf(location.pathname))
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const goTo: GoTo<Written> = (next, { replacing } = { replacing: false }) => {
    history[replacing ? 'replaceState' : 'pushState'](null, '', pathOf(next))
    arrive(next)
  }
  return [place, goTo]
}
