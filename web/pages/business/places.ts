import type { GoTo as To } from '../../components/frame/route.ts'
import { isSection, type Section } from './sections.ts'

/** Where a person is in the pages of organizations. */
export type Place =
  | { at: 'start' }
  | { at: 'list' }
  | { at: 'new' }
  | { at: 'organization'; organizationId: string; section: Section }
  | { at: 'invitation'; token: string }

/** A place to go to; where to start is found out there. */
export type Destination = Exclude<Place, { at: 'start' }>
export type GoTo = To<Destination>

export function placeOf(path: string): Place {
  const [, room = '', name = '', section = ''] = path.split('/')
  if (room === 'invitations' && name !== '') return { at: 'invitation', token: name }
  if (room !== 'organizations') return { at: 'start' }
  if (name === '') return { at: 'list' }
  if (name === 'new') return { at: 'new' }
  return { at: 'organization', organizationId: name, section: isSection(section) ? section : 'members' }
}

export function pathOf(place: Destination): string {
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
