import { Icon } from '../../components/ui/Icon.tsx'
import { useMessages } from './words.ts'

/** Links to the guide about a part of an app. It opens beside the page, which may hold what is not saved. */
export function LearnMore({ guide }: { guide: string }) {
  return (
    <a class="link small" href={`/help/guides/${guide}`} target="_blank" rel="noopener">
      <Icon name="book-open" size="sm" />
      {useMessages().developers.learnMore}
    </a>
  )
}
