import { useEffect, useState } from 'preact/hooks'
import { pathOf, placeOf, type Place } from './places.ts'

/** A way to another place. One that takes the place of this one in the history is not found by the back button. */
export type GoTo = (place: Exclude<Place, { at: 'start' }>, how?: { replacing: boolean }) => void

/** The place in the address bar, and the way to another, which the back button takes back. */
export function usePlace(): [Place, GoTo] {
  const [place, setPlace] = useState(() => placeOf(location.pathname))
  const arrive = (next: Place) => {
    setPlace(next)
    scrollTo(0, 0)
  }
  useEffect(() => {
    const follow = () => arrive(placeOf(location.pathname))
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const goTo: GoTo = (next, { replacing } = { replacing: false }) => {
    history[replacing ? 'replaceState' : 'pushState'](null, '', pathOf(next))
    arrive(next)
  }
  return [place, goTo]
}
