import type { Navigate as To } from '../../components/frame/route.tsx'

/** A view of the developer pages. */
export type DeveloperRoute = { at: 'list' } | { at: 'new' } | { at: 'app'; clientId: string }
export type Navigate = To<DeveloperRoute>

/** Returns the view of a path below `/developers`, the list by default. */
export function parseRoute(path: string): DeveloperRoute {
  const [, , room, clientId = ''] = path.split('/')
  if (room === 'new') return { at: 'new' }
  return room === 'apps' && clientId !== '' ? { at: 'app', clientId } : { at: 'list' }
}

export function routePath(place: DeveloperRoute): string {
  if (place.at === 'list') return '/developers'
  return place.at === 'new' ? '/developers/new' : `/developers/apps/${place.clientId}`
}
