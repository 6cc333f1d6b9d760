import { useEffect, useState } from 'preact/hooks'
import { readAct, type AskedAct } from './act.ts'

/** The page of organizations that has opened this one, and no other: browsers deliver to its origin alone. */
export function useAsker(businessUrl: string) {
  const asker = opener as Window | null
  const [asked, setAsked] = useState<AskedAct>()
  useEffect(() => {
    if (!asker) return
    const take = ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== asker || origin !== businessUrl) return
      // The first stays: what somebody reads does not change under their finger.
      setAsked((held) => held ?? readAct(data))
    }
    addEventListener('message', take)
    asker.postMessage({ type: 'countersign:act-awaited' }, businessUrl)
    return () => removeEventListener('message', take)
  }, [])

  function answer(message: string, signature: string): void {
    asker?.postMessage({ type: 'countersign:act-signed', message, signature }, businessUrl)
  }

  return { isThere: asker !== null, asked, answer }
}
