import type { SettingName } from "@workflow/service";
import { text, wholeNumber } from "@workflow/service/setting-types";
import type { z } from "zod";

/** The settings that this service reads alone. */
export const SETTINGS = {
  TABLE_BYTES_MAX: wholeNumber(1_024, 17_179_869_184)
    .default(268_435_456)
    .describe("Most bytes of JSON that the rows of one data table have together."),
  TABLES_COMPANY_BYTES_MAX: wholeNumber(1_024, 1_125_899_906_842_624)
    .default(10_737_418_240)
    .describe("Most bytes of JSON that the rows of all data tables of one company have together."),
  TABLES_CACHE_MB: wholeNumber(1, 65_536)
    .default(256)
    .describe("Memory for columns of data tables that a tables process keeps, in MiB."),
  TABLES_THREADS: wholeNumber(0, 64)
    .default(0)
    .describe(
      "Threads of a tables process that hold these columns and share that memory; 0 is one for each core but one, from 1 to 4.",
    ),
  TABLES_SPILL_DIR: text("a directory")
    .optional()
    .describe(
      "A directory for columns of data tables that memory has no room for. It is made when it is missing; without the setting they are read from the database again. `npm start` takes one in its data folder.",
    ),
  TABLES_SPILL_MB: wholeNumber(16, 1_048_576)
    .default(1_024)
    .describe("Most MiB that a tables process has there; its files have no names and end with it."),
} as const satisfies Partial<Record<SettingName, z.ZodType>>;
