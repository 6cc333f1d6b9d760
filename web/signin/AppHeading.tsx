import type { PublicApp } from '@countersign/protocol/apps'
import { placeOf } from '../place.ts'
import { Monogram } from '../ui/Monogram.tsx'
import { useWords } from '../ui/Root.tsx'

/** Which app asks. Its website is text: nobody should wander off from here. */
export function AppHeading({ app }: { app: PublicApp }) {
  const words = useWords().signin
  return (
    <header class="app-heading">
      <Monogram name={app.name} />
      <h1>
        <small>{words.to}</small> {app.name}
      </h1>
      {app.websiteUrl !== null && <p class="place">{placeOf(app.websiteUrl)}</p>}
    </header>
  )
}
