import type { Navigate as To } from '../../components/frame/route.tsx'

/** The tabs of an app, in their order. */
export const appTabs = ['quickstart', 'settings', 'webhook', 'resources', 'usage', 'danger'] as const
export type AppTab = (typeof appTabs)[number]

/** A view of the developer pages. */
export type DeveloperRoute = { at: 'list' } | { at: 'new' } | { at: 'app'; clientId: string; tab: AppTab }
export type Navigate = To<DeveloperRoute>

/** Returns the view of a path below `/developers`, the list by default. */
export function parseRoute(path: string): DeveloperRoute {
  const [, , room, clientId = '', named] = path.split('/')
  if (room === 'new') return { at: 'new' }
  if (room !== 'apps' || clientId === '') return { at: 'list' }
  return { at: 'app', clientId, tab: appTabs.find((tab) => tab === named) ?? 'quickstart' }
}

export function routePath(place: DeveloperRoute): string {
  if (place.at === 'list') return '/developers'
  if (place.at === 'new') return '/developers/new'
  const app = `/developers/apps/${place.clientId}`
  return place.tab === 'quickstart' ? app : `${app}/${place.tab}`
}
