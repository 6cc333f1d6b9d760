import { useEffect, useState } from 'preact/hooks'
import { fingerprintOf } from '../../lib/text/fingerprint.ts'

/** Returns the fingerprint of a public key (base64); undefined until it is computed. */
export function useFingerprint(publicKey: string): string | undefined {
  const [computed, setComputed] = useState<{ publicKey: string; fingerprint: string }>()
  useEffect(() => {
    void fingerprintOf(publicKey).then((fingerprint) => setComputed({ publicKey, fingerprint }), reportError)
  }, [publicKey])
  return computed?.publicKey === publicKey ? computed.fingerprint : undefined
}

/** Returns the first two groups of the fingerprint, by which users tell their keys apart. */
export function useShortFingerprint(publicKey: string): string | undefined {
  return useFingerprint(publicKey)?.split(' ').slice(0, 2).join(' ')
}
