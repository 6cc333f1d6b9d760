/** Holds the messages about the keys that sign tokens, for operators. */
export const adminKeysMessages = {
  title: 'Keys',
  lead: 'They sign tokens, and are replaced by themselves every 90 days.',
  algorithm: 'Algorithm',
  state: 'State',
  states: { published: 'Waiting', signing: 'Signing', retired: 'Retired' },
  from: 'Signs from',
  until: 'Published until',
  untilRotation: 'The next keys sign',
  kid: 'Key ID',
  rotate: 'Rotate',
  rotateTitle: 'Rotate the keys',
  when: 'When the new keys sign',
  times: {
    later: { label: 'In two hours', about: 'Apps have read them by then, and notice nothing.' },
    atOnce: { label: 'At once', about: 'If a key may be in other hands.' },
  },
  atOnceWhat: 'Apps that do not read the keys again reject sign-ins for up to an hour.',
  rotated: 'New keys are published.',
}
