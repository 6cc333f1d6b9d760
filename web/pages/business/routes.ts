import type { Navigate as To } from '../../components/frame/route.tsx'
import { isSection, type Section } from './sections.ts'

/** A view of the organization pages. */
export type BusinessRoute =
  | { at: 'start' }
  | { at: 'list' }
  | { at: 'new' }
  | { at: 'organization'; organizationId: string; section: Section }
  | { at: 'invitation'; token: string }

/** A view to go to. `start` is resolved to one of these. */
export type Destination = Exclude<BusinessRoute, { at: 'start' }>
export type Navigate = To<Destination>

export function parseRoute(path: string): BusinessRoute {
  const [, room = '', name = '', section = ''] = path.split('/')
  if (room === 'invitations' && name !== '') return { at: 'invitation', token: name }
  if (room !== 'organizations') return { at: 'start' }
  if (name === '') return { at: 'list' }
  if (name === 'new') return { at: 'new' }
  return { at: 'organization', organizationId: name, section: isSection(section) ? section : 'overview' }
}

export function routePath(place: Destination): string {
  switch (place.at) {
    case 'list':
      return '/organizations'
    case 'new':
      return '/organizations/new'
    case 'organization':
      return `/organizations/${place.organizationId}/${place.section}`
    case 'invitation':
      return `/invitations/${place.token}`
  }
}
