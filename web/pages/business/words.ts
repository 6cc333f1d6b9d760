import { usePageMessages } from '../../components/frame/Root.tsx'
import { businessMessages as de } from '../../locales/de/pages/business.ts'
import { peopleMessages as dePeople } from '../../locales/de/pages/organizations/people.ts'
import { businessMessages as en } from '../../locales/en/pages/business.ts'
import { peopleMessages as enPeople } from '../../locales/en/pages/organizations/people.ts'

/** The messages about organizations, which the other pages do not load. */
export type BusinessWords = typeof en

export function useBusinessMessages(): BusinessWords {
  return usePageMessages({ en, de })
}

/** The messages about members and invitations. */
export function usePeopleMessages(): typeof enPeople {
  return usePageMessages({ en: enPeople, de: dePeople })
}
