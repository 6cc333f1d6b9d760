import { usePageMessages } from '../../components/frame/Root.tsx'
import { businessMessages as en } from '../../locales/en/pages/business.ts'
import { peopleMessages as enPeople } from '../../locales/en/pages/organizations/people.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/business.ts')).businessMessages)
const dePeople = lateTexts(
  'de',
  async () => (await import('../../locales/de/pages/organizations/people.ts')).peopleMessages,
)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/business.ts')).businessMessages)
const arPeople = lateTexts(
  'ar',
  async () => (await import('../../locales/ar/pages/organizations/people.ts')).peopleMessages,
)

/** The messages about organizations, which the other pages do not load. */
export type BusinessWords = typeof en

export function useBusinessMessages(): BusinessWords {
  return usePageMessages({ en, de, ar })
}

/** The messages about members and invitations. */
export function usePeopleMessages(): typeof enPeople {
  return usePageMessages({ en: enPeople, de: dePeople, ar: arPeople })
}
