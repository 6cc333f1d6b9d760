import { createBell } from '#platform/queue/bell.ts'

/** Who in this process waits for a webhook to deliver. A process looks by itself too. */
const { ring, onRing } = createBell()

export { ring as ringBell, onRing as onBell }
