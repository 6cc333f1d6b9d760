import type { ConfigurationDocument } from '@countersign/protocol/operations/configuration'

const groups = ['staff', 'eng', 'ops'].map((key) => ({ key, displayName: `Team ${key}` }))

/**
 * What the operator of an example does in the first hour: twenty people in three groups, and two apps, one of which is
 * for a group. Each way to do it gives the same export.
 */
export const firstHour = {
  apiVersion: 'countersign/v1',
  source: 'platform',
  settings: { 'branding.name': 'Example ID', 'registration.mode': 'invited' },
  groups,
  apps: [
    { key: 'wiki', name: 'Wiki', redirectUris: ['https://wiki.example.com/callback'] },
    {
      key: 'grafana',
      name: 'Grafana',
      redirectUris: ['https://grafana.example.com/login'],
      allowedScopes: ['openid', 'profile', 'groups'],
      access: { mode: 'restricted', groups: ['eng'], contact: 'it@example.com' },
    },
  ],
  invitations: Array.from({ length: 20 }, (_, nth) => ({
    email: `person-${String(nth).padStart(2, '0')}@example.com`,
    groups: [groups[nth % groups.length]?.key ?? ''],
    language: nth % 2 === 0 ? 'en' : 'de',
  })),
} as const satisfies ConfigurationDocument
