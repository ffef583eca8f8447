import { jest } from "@jest/globals";
import * as fc from "fast-check";

// The seed that Jest prints repeats the values as it repeats the order of the cases.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: jest.getSeed() });

export { fc };
