import { useDeviceStore } from '../device-database.ts'

const alarmsMax = 20

/** Keeps the evidence of an alarm in this browser, under the instant of the alarm. */
export async function keepEvidence(at: string, evidence: string): Promise<void> {
  const count = await useDeviceStore('evidence', 'readonly', (store) => store.count())
  if (typeof count === 'number' && count >= alarmsMax)
    await useDeviceStore('evidence', 'readwrite', (store) => store.clear())
  await useDeviceStore('evidence', 'readwrite', (store) => store.put(evidence, at))
}
