import { Icon } from '../../components/ui/Icon.tsx'
import { useMessages } from './words.ts'

/** Links to the guide about a part of an app. */
export function LearnMore({ guide }: { guide: string }) {
  return (
    <a class="link small" href={`/help/guides/${guide}`}>
      <Icon name="book-open" size="sm" />
      {useMessages().developers.learnMore}
    </a>
  )
}
