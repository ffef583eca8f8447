/** Identifies a table in all statements that touch its rows. */
export interface TableKey {
  companyId: string;
  tableKey: number;
}
