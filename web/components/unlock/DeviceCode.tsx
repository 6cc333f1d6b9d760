import { useWords } from '../frame/Root.tsx'

/** Digits that a person carries from this device to another. */
export function DeviceCode({ digits }: { digits: string }) {
  const groups = digits.match(/.{1,3}/g) ?? []
  return (
    <figure class="code digits" aria-label={useWords().devices.code}>
      <output name="deviceCode">{groups.join(' ')}</output>
    </figure>
  )
}
