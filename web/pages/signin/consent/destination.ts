import type { SignInView } from '@countersign/protocol/pages'
import { placeOf } from '../../../lib/place.ts'

/** Where the answer goes, as a person may recognise it: the page of the app, also where the browser takes it there. */
export function destination({ givenTo, redirectUri }: Pick<SignInView, 'givenTo' | 'redirectUri'>): string {
  return placeOf(givenTo ?? redirectUri)
}
