import type { adminOrganizationsMessages as english } from '../../../en/pages/admin/organizations.ts'

/** Holds the messages about organizations, for operators. In Arabic. */
export const adminOrganizationsMessages: typeof english = {
  title: 'المؤسسات',
  lead: 'يديرها مالكوها. ترى أنها موجودة، لا ما تفعله.',
  none: 'لا مؤسسات بعد',
  noneWhat: 'ينشئها المستخدمون في صفحات المؤسسات.',
  name: 'المؤسسة',
  status: 'الحالة',
  statuses: { active: 'نشطة', suspended: 'موقوفة' },
  members: 'الأعضاء',
  owners: 'المالكون',
  created: 'أُنشئت',
  menuOf: (organization) => `إجراءات ${organization}`,
  suspend: 'إيقاف',
  suspendTitle: (organization) => `إيقاف ${organization}`,
  suspendWhat: 'لا وصول لأعضائها ورموزها حتى تعيد تفعيلها. لا يُحذف شيء.',
  suspended: (organization) => `أُوقفت ${organization}.`,
  activate: 'تفعيل',
  activateTitle: (organization) => `تفعيل ${organization}`,
  activateWhat: 'يعود لأعضائها الوصول.',
  activated: (organization) => `فُعّلت ${organization}.`,
}
