import { setKeyNotices } from '../../lib/keys/key-notices.ts'

const load = () => import('./KeyNotices.tsx')

/** Lets a page that unlocks keys show what their check finds. The texts and screens are loaded when they are needed. */
export function showKeyNotices(): void {
  setKeyNotices({
    alarm: async (alarm) => (await load()).showAlarm(alarm),
    showChanges: async (changes) => (await load()).showChanges(changes),
    note: async () => (await load()).showUnchecked(),
  })
}
