import type { GoTo as To } from '../../components/frame/route.ts'

/** Where a person is in the portal. */
export type Place = { at: 'list' } | { at: 'new' } | { at: 'app'; clientId: string }
export type GoTo = To<Place>

/** The place of a path below `/developers`; the list where it names none. */
export function placeOf(path: string): Place {
  const [, , room, clientId = ''] = path.split('/')
  if (room === 'new') return { at: 'new' }
  return room === 'apps' && clientId !== '' ? { at: 'app', clientId } : { at: 'list' }
}

export function pathOf(place: Place): string {
  if (place.at === 'list') return '/developers'
  return place.at === 'new' ? '/developers/new' : `/developers/apps/${place.clientId}`
}
